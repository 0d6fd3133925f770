bayplan simulate -f cluster.yaml --plugin prefer_racks.py:PreferRacks --plugin no_maintenance.py:NoMaintenance
bayplan explain pod web -f cluster.yaml --plugin prefer_racks.py:PreferRacks --plugin no_maintenance.py:NoMaintenance
