package io.keelson.server.api.http;

import io.keelson.server.api.http.inbox.InboxDecisions;
import io.keelson.server.api.http.inbox.InboxItems;
import io.keelson.server.api.http.inbox.ReportActions;
import io.keelson.server.api.http.runs.ArtifactActions;
import io.keelson.server.api.http.runs.ExplainActions;
import io.keelson.server.api.http.runs.RunActions;
import io.keelson.server.api.http.runs.RunCreateActions;
import io.keelson.server.api.http.support.Idempotency;
import io.keelson.server.api.http.support.KnownHosts;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.RunEndPoll;
import io.keelson.server.api.http.support.SessionCookie;
import io.keelson.server.mission.submission.RecipeMissions;

/** Parts of the API that routes of modules share with its own. */
public record ApiParts(Reads reads, Runs runs, Inbox inbox, Idempotency idempotency, KnownHosts hosts,
        SessionCookie cookie, HttpOptions options) {

    /**
     * Creates, changes and explains runs.
     *
     * @param missions reads missions, and recipes as missions
     */
    public record Runs(RecipeMissions missions, RunCreateActions creation, RunActions actions, RunEndPoll ends,
            ExplainActions explain, ArtifactActions artifacts, ReportActions reports) {}

    /** Items that wait for persons, and their answers. */
    public record Inbox(InboxItems items, InboxDecisions decisions) {}
}
