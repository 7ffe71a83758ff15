"""The tools of this package: one function each. spark-tool.json describes them."""

import json
import os

import spark_tool  # before whatever may print while it loads: from here on, stdout is stderr

HELLO = {"en": "Hello", "de": "Hallo", "es": "Hola", "fr": "Bonjour", "ja": "こんにちは"}


def greet(arguments, call):
    name = arguments["name"]
    if not name.strip():
        raise spark_tool.ToolError("BLANK_NAME", "the name has no visible character")
    end = os.environ.get("GREETING_END", "!")
    return {"greeting": f"{HELLO[arguments['language']]}, {name}{end}"}


def add_note(arguments, call):
    folder = os.environ.get("SPARK_TOOL_DATA_DIR")
    if not folder:
        raise spark_tool.ToolError("NO_DATA_FOLDER", "this host names no folder that the tool may write to")
    path = os.path.join(folder, "notes.jsonl")
    with open(path, "a", encoding="utf-8") as notes:
        notes.write(json.dumps(arguments["text"], ensure_ascii=False) + "\n")
    with open(path, "rb") as notes:
        count = sum(1 for _ in notes)
    call.log(f"notes in {path}: {count}", "debug")
    return {"text": arguments["text"], "count": count}


if __name__ == "__main__":
    spark_tool.serve({"greet": greet, "add_note": add_note})
