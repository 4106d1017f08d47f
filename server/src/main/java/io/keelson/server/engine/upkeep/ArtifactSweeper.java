package io.keelson.server.engine.upkeep;

import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.retention.ArtifactRetention;
import io.keelson.server.engine.store.retention.ArtifactRetention.Removable;
import io.keelson.server.engine.store.retention.Uploads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends artifacts: marks the record, removes the content after a grace, and records that. After a crash between these
 * steps the next run continues. Any number of nodes may do this at once.
 */
public final class ArtifactSweeper {
    private static final Logger LOG = LoggerFactory.getLogger(ArtifactSweeper.class);
    private static final int BATCH_SIZE = 500;
    /** After that many failures in a row the store itself has failed; a request to it can take a minute and a half. */
    private static final int MAX_FAILURES = 20;
    /** Longer than the longest download. */
    static final Duration GRACE = Duration.ofHours(1);
    /** A result that names an upload at the end of its time has the grace to be committed. */
    static final Duration ORPHAN_AGE = Uploads.MAX_AGE.plus(GRACE);

    private final Database database;
    private final ArtifactRetention life;
    private final ArtifactStore store;
    private final Duration retention;
    private final Clock clock;

    /** @param clock the store's, for the age of its content */
    public ArtifactSweeper(Database database, ArtifactRetention life, ArtifactStore store, Duration retention,
            Clock clock) {
        this.database = database;
        this.life = life;
        this.store = store;
        this.retention = retention;
        this.clock = clock;
    }

    /** Marks expired artifacts; returns their number. */
    int expire() {
        database.withConnection(c -> life.date(c, retention));
        int all = 0;
        int some;
        do {
            some = database.withConnection(c -> life.expire(c, BATCH_SIZE));
            all += some;
        } while (some == BATCH_SIZE);
        return all;
    }

    /**
     * Removes the content of marked artifacts; returns their number. Retries artifacts that the store cannot remove.
     */
    int remove() {
        int all = 0;
        List<Removable> some;
        List<UUID> removed;
        do {
            some = database.withConnection(c -> life.removable(c, GRACE, BATCH_SIZE));
            removed = new ArrayList<>();
            int failures = 0;
            for (Removable each : some) {
                if (remove(each.storageKey())) {
                    removed.add(each.id());
                    failures = 0;
                } else if (++failures == MAX_FAILURES) {
                    break;
                }
            }
            List<UUID> noted = removed;
            if (!noted.isEmpty()) {
                database.runInTransaction(c -> life.removed(c, noted));
            }
            all += noted.size();
        } while (removed.size() == BATCH_SIZE);
        return all;
    }

    /** Removes content without a record and unfinished content; returns the number of files without a record. */
    int removeOrphans() {
        database.runInTransaction(c -> life.dropUploads(c, ORPHAN_AGE));
        removeUnfinished();
        int[] removed = {0};
        try {
            store.storedBefore(clock.instant().minus(ORPHAN_AGE), keys -> {
                for (String orphan : database.withConnection(c -> life.unknown(c, keys))) {
                    removed[0] += remove(orphan) ? 1 : 0;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (removed[0] > 0) {
            LOG.info("removed {} files of steps without a result", removed[0]);
        }
        return removed[0];
    }

    /** Not every store lists unfinished uploads; content without a record is removed all the same. */
    private void removeUnfinished() {
        try {
            int unfinished = store.removeUnfinished(clock.instant().minus(ORPHAN_AGE));
            if (unfinished > 0) {
                LOG.info("removed {} unfinished uploads", unfinished);
            }
        } catch (IOException e) {
            LOG.warn("could not remove unfinished uploads from the artifact store: {}", e.toString());
        }
    }

    private boolean remove(String key) {
        try {
            store.delete(key);
            return true;
        } catch (IOException e) {
            LOG.warn("could not remove {} from the artifact store: {}", key, e.toString());
            return false;
        }
    }
}
