import json
import sys

for line in sys.stdin.buffer:
    frame = json.loads(line)
    answer = {"protocolVersion": frame["protocolVersion"], "requestId": frame["requestId"], "sequence": 0}
    if frame["type"] == "initialize":
        answer["type"] = "ready"
    elif frame["type"] == "invoke":
        answer.update(type="result", invocationId=frame["invocationId"], result=frame["input"])
    elif frame["type"] == "shutdown":
        break
    else:
        continue
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
