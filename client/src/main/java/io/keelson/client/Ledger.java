package io.keelson.client;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.money.Verification;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;

/** Every transfer of the workspace's credits. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Ledger {

    private static final Duration VERIFY_TIMEOUT = Duration.ofMinutes(10);

    private final Api api;

    Ledger(Api api) {
        this.api = api;
    }

    /** Newest first. */
    public Page<LedgerEntry> list(LedgerQuery query) {
        RequestPath route = matching(query).with("cursor", query.cursor()).with("limit", query.limit());
        return Page.of(api.get(route.toString()), LedgerEntry.class);
    }

    /** All that match as CSV (UTF-8, with a heading), oldest first; the caller closes the stream. */
    public InputStream csv(LedgerQuery query) {
        return api.stream(matching(query).with("format", "csv").toString());
    }

    /** The reservations, charges and refunds of a run, oldest first. */
    public List<LedgerEntry> ofRun(String runId) {
        return Page.all(cursor -> Page.of(
                api.get(RequestPath.of("/runs/", runId, "/ledger").with("cursor", cursor).with("limit", 500)
                        .toString()),
                LedgerEntry.class));
    }

    /** Reads the ledger of a run as CSV; the caller closes the stream. */
    public InputStream csvOfRun(String runId) {
        return api.stream(RequestPath.of("/runs/", runId, "/ledger").with("format", "csv").toString());
    }

    /** Verifies the workspace's ledger. It reads everything there is, which may take a while. */
    public Verification verify() {
        return verify("/ledger/verify");
    }

    /** Verifies the ledgers of all workspaces; needs a key with the scope {@code operator}. */
    public Verification verifyAll() {
        return verify("/ledger/verify?all=true");
    }

    private Verification verify(String path) {
        return Json.document(api.send(Call.get(path).within(VERIFY_TIMEOUT)).body(), Verification.class);
    }

    private static RequestPath matching(LedgerQuery query) {
        return RequestPath.of("/ledger").with("type", query.type()).with("from", query.from()).with("to", query.to());
    }
}
