"""Speaks spark-tool-process-v1 over stdin and stdout, so that a tool is a plain function. It is yours: change it freely.

    import spark_tool

    def add(arguments, call):
        return {"sum": arguments["a"] + arguments["b"]}

    if __name__ == "__main__":
        spark_tool.serve({"add": add})

A tool gets its input, checked and with defaults filled in, and the call; it returns anything that JSON can say. Calls
that are open at the same time run in threads. Python 3.9 or newer, nothing else.
"""

import json
import os
import sys
import threading

PROTOCOL = "spark-tool-process-v1"
FRAME_BYTES = 4 * 1024 * 1024  # the most bytes of a line, in both directions
STOP_SECONDS = 0.7  # for open calls to come to an end; the host waits 1 s after `shutdown`

# stdout carries frames and nothing else. They get a descriptor of their own, and descriptor 1 becomes stderr: a stray
# print, a library's banner or a child process can't break the protocol. That happens when this module is imported, so
# import it before whatever may print while it loads.
_frames_out = os.dup(1)
os.dup2(2, 1)
sys.stdout = sys.stderr

_write_lock = threading.Lock()
_sequence = 0


class ToolError(Exception):
    """Raised by a tool to answer with an error: a code for programs, a message for people and models."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


class Cancelled(ToolError):
    """The caller doesn't wait any longer, or the process is to end."""

    def __init__(self) -> None:
        super().__init__("CANCELLED", "the call was cancelled")


class Call:
    """One call of a tool."""

    def __init__(self, frame: dict):
        self.id = frame["invocationId"]
        self.tool = frame["toolName"]
        self.context = frame.get("context") or {}  # correlationId, deadlineMs, locale, caller; any may be missing
        self.cancelled = threading.Event()
        self._request = frame["requestId"]
        self._answers = {}  # of capability requests: id -> frame
        self._answered = threading.Condition()

    def check_cancelled(self) -> None:
        """Ends the tool if nobody waits for it any more. To be called in long loops."""
        if self.cancelled.is_set():
            raise Cancelled

    def log(self, message: str, level: str = "info") -> None:
        """Writes to the host's log. Levels: debug, info, warn, error."""
        _send("log", os.urandom(8).hex(), invocationId=self.id, level=level, message=_cut(message, 32_000))

    def progress(self, done: float, message: str = "") -> None:
        """Says how much is done, from 0 to 1."""
        more = {"message": _cut(message, 4_000)} if message else {}
        _send("progress", os.urandom(8).hex(), invocationId=self.id, progress=min(max(done, 0), 1), **more)

    def capability(self, name: str, value=None):
        """Asks the host to do something that the manifest's `permissions` name; waits for its answer."""
        request = os.urandom(8).hex()
        _send("capability.request", request, invocationId=self.id, capability=name, input=value)
        with self._answered:
            self._answered.wait_for(lambda: request in self._answers or self.cancelled.is_set())
            answer = self._answers.pop(request, None)
        if answer is None:
            raise Cancelled
        if answer["type"] == "capability.error":
            raise ToolError(answer["code"], answer["message"])
        return answer["result"]

    def _cancel(self) -> None:
        with self._answered:
            self.cancelled.set()
            self._answered.notify_all()

    def _answer_capability(self, frame: dict) -> None:
        with self._answered:
            self._answers[frame["requestId"]] = frame
            self._answered.notify_all()

    def _run(self, function, arguments: dict) -> None:
        try:
            _send("result", self._request, invocationId=self.id, result=function(arguments, self))
        except ToolError as error:
            self._fail(error.code, str(error))
        except _Unsendable as error:
            self._fail("BAD_RESULT", str(error))
        except BaseException as error:  # also SystemExit: a tool can't end the process
            sys.excepthook(type(error), error, error.__traceback__)
            self._fail("TOOL_FAILED", f"{type(error).__name__}: {error}")

    def _fail(self, code: str, message: str) -> None:
        _send("error", self._request, invocationId=self.id, code=_cut(code, 160) or "TOOL_FAILED", message=_cut(message, 4_000) or "no message")


def serve(tools: dict) -> None:
    """Answers frames until the host says `shutdown` or closes stdin. `tools` has a function for each tool's name."""
    if sys.stdin and sys.stdin.isatty():
        print("This program talks to a host in JSON lines. Try: spark-tool test", file=sys.stderr)
    calls = {}  # open calls: invocation id -> (Call, Thread)
    for frame in _frames():
        kind = frame.get("type")
        call, _ = calls.get(frame.get("invocationId"), (None, None))
        if kind == "initialize":
            _send("ready", frame["requestId"])
        elif kind == "invoke":
            calls = {id: (open_call, thread) for id, (open_call, thread) in calls.items() if thread.is_alive()}
            call = Call(frame)
            function = tools.get(call.tool)
            if function is None:
                call._fail("UNKNOWN_TOOL", f"there is no tool {call.tool}")
                continue
            thread = threading.Thread(target=call._run, args=(function, frame["input"]), daemon=True)
            calls[call.id] = (call, thread)
            thread.start()
        elif kind == "cancel" and call:
            call._cancel()
        elif kind in ("capability.result", "capability.error") and call:
            call._answer_capability(frame)
        elif kind == "shutdown":
            break
    _stop(calls)


def _frames():
    """Yields each line of stdin as an object; tools and their children see an empty stdin."""
    lines = os.fdopen(os.dup(0), "rb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    while True:
        line = lines.readline(FRAME_BYTES + 2)
        if not line.endswith(b"\n"):
            if len(line) > FRAME_BYTES:
                print(f"a line of more than {FRAME_BYTES} bytes can't be a frame", file=sys.stderr)
            return  # the end, maybe in mid-line
        try:
            frame = _parse(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            if line.strip():
                print(f"a line that is no frame was ignored: {error}", file=sys.stderr)
            continue
        if isinstance(frame, dict):
            yield frame


def _parse(text: str):
    try:
        return json.loads(text)
    except ValueError:
        # Python reads no integer of more than 4 300 digits; like 1e999, it becomes infinite.
        return json.loads(text, parse_int=float)


class _Unsendable(Exception):
    pass


def _send(kind: str, request: str, **fields) -> None:
    global _sequence
    with _write_lock:
        frame = {"protocolVersion": PROTOCOL, "type": kind, "requestId": request, "sequence": _sequence, **fields}
        try:
            line = json.dumps(frame, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
        except (TypeError, ValueError, RecursionError) as error:
            raise _Unsendable(f"not JSON in UTF-8: {error}") from None
        if len(line) > FRAME_BYTES:
            raise _Unsendable(f"{len(line)} bytes are too many, a frame has at most {FRAME_BYTES}")
        _sequence += 1
        rest = memoryview(line + b"\n")
        try:
            while rest:
                rest = rest[os.write(_frames_out, rest) :]
        except OSError:
            os._exit(1)  # nobody reads any more


def _cut(text, units: int) -> str:
    """At most so many UTF-16 units, which is how the protocol counts, and no half characters."""
    return str(text).encode("utf-16-le", "surrogatepass")[: units * 2].decode("utf-16-le", "ignore")


def _stop(calls: dict) -> None:
    for call, _ in calls.values():
        call._cancel()
    for _, thread in calls.values():
        thread.join(STOP_SECONDS / len(calls))
    if any(thread.is_alive() for _, thread in calls.values()):
        sys.stderr.flush()
        os._exit(0)  # a thread that doesn't listen must not keep the process
