"""Keelson: durable runs for AI agents. `Keelson` and `AsyncKeelson` call a server, a `Worker` serves tools to it."""
from keelson._errors import Cancelled, KeelsonError, Problem, StepDeferral, StepFailure
from keelson._execution import Context, Continue, Gateway
from keelson._http import VERSION as __version__
from keelson._types import (
    Artifact,
    Event,
    Explanation,
    InboxDecision,
    InboxItem,
    LogLine,
    RunStatus,
    RunUndo,
    Step,
    Trigger,
    TriggerDelivery,
    TriggerDeliveryReceipt,
)
from keelson.aio import AsyncKeelson
from keelson.client import Keelson, Run
from keelson.mission import Mission, Task, expr
from keelson.turn import Answer, CallResult, PastTurn, Turn
from keelson.worker import Worker

connect = Keelson.connect

__all__ = [
    "Answer", "Artifact", "AsyncKeelson", "CallResult", "Cancelled", "Context", "Continue", "Event", "Explanation", "Gateway",
    "InboxDecision", "InboxItem", "Keelson", "KeelsonError", "LogLine", "Mission", "PastTurn", "Problem", "Run", "RunStatus", "RunUndo", "Step", "StepDeferral",
    "StepFailure", "Task", "Trigger", "TriggerDelivery", "TriggerDeliveryReceipt", "Turn", "Worker", "__version__", "connect", "expr",
]
