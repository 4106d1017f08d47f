package io.keelson.server.engine.commit;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.Created;
import io.keelson.core.decide.Decider;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.money.Funds;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.store.KeyUse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A decision to create a run that is not committed, with the steps that this node may execute before the commit. The commit decides
 * again, with the same ids, and the draft's changes are not written.
 */
public final class Draft {
    private final Committer committer;
    private final Command.Create create;
    private final @Nullable KeyUse key;
    private final List<UUID> ids = new ArrayList<>();
    private final ChangeSet changes = new ChangeSet();
    private final Instant now;
    private final Created created;

    /** The replies of a commit: to the creation, and to the report of the executed steps. */
    public record Replies(CompletableFuture<Reply> creation, CompletableFuture<Reply> report) {}

    Draft(Committer committer, Command.Create create, @Nullable KeyUse key, Instant now, Ids others,
            LocalCapacity capacity, Funds funds) {
        this.committer = committer;
        this.create = create;
        this.key = key;
        this.now = now;
        this.created = Decider.create(create, changes, now, () -> {
            UUID id = others.next();
            ids.add(id);
            return id;
        }, capacity, funds);
    }

    public boolean isAccepted() {
        return created.view() != null;
    }

    public Instant time() {
        return now;
    }

    public ChangeSet changes() {
        return changes;
    }

    /**
     * Creates the run and records the report of its executed steps, in one commit. If the creation is refused, the reply to the
     * report is {@link Reply#UNCHANGED}.
     *
     * @param tool of the first step
     * @param report null if no step has ended
     */
    public Replies commit(String tool, @Nullable Command report) {
        return committer.submit(create, key, new Executed(List.copyOf(ids), tool, report, null));
    }

    /** Creates the run without its executed steps, which are executed again. */
    public CompletableFuture<Reply> commitAlone() {
        return committer.submit(create, key);
    }
}
