"""A tool: counts the words of a text. Run it beside a server, then `keelson run examples/workers/mission.json`."""

from keelson import Failure, Worker

worker = Worker()


@worker.tool("text.words", "Counts the words of a text", effects="read",
             input_schema={"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}})
def words(step):
    if not step.input["text"].strip():
        raise Failure("TEXT_MISSING", "the text is empty", "permanent")
    step.log("counting")
    return {"words": len(step.input["text"].split())}


if __name__ == "__main__":
    worker.serve()
