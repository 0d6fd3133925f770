"""Asks the extender what a scheduler would ask, and prints what it answers: python3 ask.py http://127.0.0.1:18090/filter"""

import sys
import time
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

with open("request.json", "rb") as file:
    request = file.read()
opener = build_opener(ProxyHandler({}))
for _ in range(100):
    try:
        print(opener.open(sys.argv[1], request).read().decode())
        break
    except URLError:
        time.sleep(0.1)  # it has only just been started
else:
    sys.exit(f"{sys.argv[1]} does not answer")
