"""An agent that exists already, as one step: it works in its own loop, the server bounds its cost and keeps what it has done.

`write` is in place of your agent: a generator that yields after each call of its model.
"""

from keelson import Worker

worker = Worker()
PRICE = 0.01  # of one call of the model, in credits


def write(topic, done):
    for part in ("introduction", "body", "end")[len(done):]:
        yield f"The {part} of a text about {topic}."


@worker.tool("agent.write", "Writes a short text about a topic", effects="idempotent")
def agent(step):
    done = list(step.details or [])  # parts that a lost execution had finished: they are not bought again
    bought = 0
    for part in write(step.input["topic"], done):
        done.append(part)
        bought += 1
        step.keep(done)
        step.usage(cost=round(bought * PRICE, 6))  # charged at once, so that limits hold meanwhile
        step.progress(len(done) / 3, part)
        step.check()  # before the next purchase: raises when the budget, a person or the time stops the step
    return {"text": " ".join(done)}


if __name__ == "__main__":
    worker.serve()
