#!/usr/bin/env python3
"""Memory of `slide serve` under clients that ask for large answers and never read them.

usage: serve_unread.py PORT PID [CLIENTS] [SECONDS] [FEATURES] [INPUTS] [K]

Each client sends POST /predict with INPUTS samples and K labels each, reads nothing, and connects again when the
server has closed it. Prints the peak memory of the process PID (VmHWM) and what the metrics say at the end.
"""
import json, random, resource, socket, sys, time, urllib.request

port, pid = int(sys.argv[1]), int(sys.argv[2])
clients, seconds, features, inputs, k = ([int(a) for a in sys.argv[3:8]] + [1000, 60, 1000, 100, 10000][len(sys.argv) - 3:])
resource.setrlimit(resource.RLIMIT_NOFILE, (clients + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
draw = random.Random(1)
body = json.dumps({"k": k, "inputs": [{"features": {str(draw.randrange(features)): 1}} for _ in range(inputs)]})
request = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def connect():
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(5)
    try:
        client.connect(("127.0.0.1", port))
        client.send(request)
    except OSError:
        pass
    return client


def is_done(client, since):
    """Whether it got a refusal, or the server has given it up; takes nothing of an answer."""
    try:
        client.settimeout(0)
        start = client.recv(12, socket.MSG_PEEK)
    except BlockingIOError:
        start = None
    except OSError:
        return True
    return start == b"" or (start is not None and not start.startswith(b"HTTP/1.1 200")) or time.time() > since + 11


end, asked = time.time() + seconds, clients
held = [(connect(), time.time()) for _ in range(clients)]
while time.time() < end:
    for i, (client, since) in enumerate(held):
        if is_done(client, since):
            client.close()
            held[i] = (connect(), time.time())
            asked += 1
    time.sleep(0.05)
peak = [line.split()[1] for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM")][0]
print(f"{asked} requests of {clients} clients in {seconds} s: peak memory {int(peak) / 1024:.0f} MB")
for client, _ in held:
    client.close()
time.sleep(1)
text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
print("\n".join(line for line in text.splitlines() if line.startswith(("slide_requests_total", "slide_waiting", "slide_rejected", "process_resident"))))
