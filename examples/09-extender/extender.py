"""An extender: nodes of a team take that team's pods only, and a team's pods prefer the team's own nodes."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Extender(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        team = asked["Pod"]["metadata"].get("labels", {}).get("team")
        owners = {n["metadata"]["name"]: n["metadata"].get("labels", {}).get("team") for n in asked["Nodes"]["items"]}
        if self.path == "/filter":
            others = [name for name, own in owners.items() if own not in (None, team)]
            refused = dict.fromkeys(others, "node(s) belonged to another team")
            passed = [n for n in asked["Nodes"]["items"] if n["metadata"]["name"] not in refused]
            answer = {"Nodes": {"items": passed}, "FailedAndUnresolvableNodes": refused}
        else:
            answer = [{"Host": name, "Score": 10 if own and own == team else 0} for name, own in owners.items()]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Extender).serve_forever()
