// Made by scripts/generate.mjs from the server's OpenAPI document; do not edit.

/** By record and member: `time`, `decimal`, a record, or one of these in `[]` or `{}`. */
export const KINDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Agent": {
    "limits": "AgentLimits",
    "created_at": "time",
    "updated_at": "time"
  },
  "Artifact": {
    "created_at": "time",
    "expires_at": "time",
    "deleted_at": "time"
  },
  "Completion": {
    "usage": "ReportedUsage",
    "cost": "decimal",
    "progress": "Progress",
    "artifacts": "[CompletionInlineArtifact]",
    "proposals": "[NewProposal]",
    "uploads": "[CompletionUpload]"
  },
  "Event": {
    "created_at": "time"
  },
  "Explanation": {
    "reasons": "[ExplanationReason]"
  },
  "ExplanationReason": {
    "until": "time",
    "needed_usd": "decimal"
  },
  "Failure": {
    "usage": "ReportedUsage",
    "cost": "decimal",
    "progress": "Progress"
  },
  "Heartbeat": {
    "usage": "ReportedUsage",
    "cost": "decimal",
    "progress": "Progress"
  },
  "InboxDecision": {
    "approvals": "InboxItemApprovals"
  },
  "InboxItem": {
    "actions": "[InboxItemAction]",
    "created_at": "time",
    "due_at": "time",
    "reminder_at": "time",
    "hard_limit_usd": "decimal",
    "approvals": "InboxItemApprovals",
    "links": "InboxItemLinks"
  },
  "InboxItemApprovals": {
    "votes": "[InboxItemVote]"
  },
  "InboxItemVote": {
    "at": "time"
  },
  "LogLine": {
    "created_at": "time"
  },
  "Mission": {
    "start_at": "time"
  },
  "Release": {
    "deferral": "ReleaseDeferral"
  },
  "ReportAnswer": {
    "lease_expires_at": "time",
    "next": "WorkItem"
  },
  "Run": {
    "now": "RunNow",
    "start_at": "time",
    "scheduled_for": "time",
    "undo": "RunUndo",
    "credits_reserved": "decimal",
    "credits_charged": "decimal",
    "credits_refunded": "decimal",
    "credits_uncollected": "decimal",
    "hard_limit_usd": "decimal",
    "soft_limit_usd": "decimal",
    "task_budgets": "[TaskBudget]",
    "usage": "TokenUsage",
    "total_cost": "decimal",
    "created_at": "time",
    "updated_at": "time",
    "started_at": "time",
    "completed_at": "time",
    "cancelled_at": "time",
    "last_heartbeat_at": "time",
    "archived_at": "time"
  },
  "RunActionFork": {
    "overrides": "RunActionOverrides"
  },
  "RunNow": {
    "since": "time",
    "until": "time"
  },
  "RunStatus": {
    "started_at": "time",
    "finished_at": "time"
  },
  "RunUndo": {
    "requested_at": "time"
  },
  "Step": {
    "result_from": "ResultSource",
    "cost": "decimal",
    "next_run_at": "time",
    "started_at": "time",
    "completed_at": "time",
    "created_at": "time"
  },
  "Task": {
    "flow": "TaskFlow",
    "result_from": "ResultSource",
    "next_run_at": "time",
    "cost": "decimal",
    "created_at": "time",
    "updated_at": "time",
    "queued_at": "time",
    "started_at": "time",
    "completed_at": "time",
    "cancelled_at": "time"
  },
  "TaskBudget": {
    "budget_usd": "decimal",
    "used": "decimal"
  },
  "TaskFlow": {
    "branches": "[TaskFlowBranch]",
    "within": "[TaskFlowPlace]"
  },
  "TaskRound": {
    "cost": "decimal",
    "started_at": "time",
    "completed_at": "time",
    "tasks": "[TaskRoundRoundTask]"
  },
  "Trigger": {
    "source": "TriggerSource",
    "created_at": "time",
    "updated_at": "time"
  },
  "TriggerDelivery": {
    "received_at": "time",
    "due_at": "time",
    "decided_at": "time"
  },
  "WorkItem": {
    "lease_expires_at": "time",
    "deadline": "time",
    "gateway": "WorkItemGateway",
    "following": "[WorkItemFollowing]"
  },
  "WorkItemFollowing": {
    "deadline": "time"
  }
};
