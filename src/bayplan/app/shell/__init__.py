"""What every service shares: process, signals, leader election, health port, metrics, logs."""
