"""An agent in turns: the server makes its calls of tools and keeps the transcript; nothing is kept here between turns.

Plain rules stand for the model that would decide.
"""

from keelson import Worker

worker = Worker()


@worker.tool("agent.turn")
def turn(step):
    past = step.input["transcript"]
    if not past:
        return {"tool_calls": [{"name": "echo", "input": {"asked": step.input["goal"]}}]}
    result = past[-1]["results"][0]
    return {"output": {"turns": len(past) + 1, "heard": result.get("output", result.get("error"))}}


if __name__ == "__main__":
    worker.serve()
