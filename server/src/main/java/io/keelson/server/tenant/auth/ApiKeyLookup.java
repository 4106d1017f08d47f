package io.keelson.server.tenant.auth;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.tenant.workspace.Limits;
import java.nio.ByteBuffer;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the holder of a key or of a session. Only hashes are stored. Caches answers for {@link #CACHE_TIME}, so a change of a key, its
 * workspace or its limits is effective within 5 seconds on every node, also for a waiting call or an idle stream, which checks
 * once a second. {@link ApiKeyUsage} records the use of keys.
 */
public final class ApiKeyLookup {

    static final Duration CACHE_TIME = Duration.ofSeconds(3);

    private static final int MAX_CACHED = 10_000;

    private static final String HOLDER = """
            select k.id, k.workspace_id, coalesce(p.name, k.name) as principal, coalesce(p.kind, 'person') as kind,
                k.scopes, w.closed_at is not null as closed, %s,
                coalesce(k.last_used_at < clock_timestamp() - interval '1 minute', true) as unseen
              from api_keys k
              join workspaces w on w.id = k.workspace_id
              left join principals p on p.id = k.principal_id
             where k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())"""
            .formatted(Limits.column("k.workspace_id"));

    private static final Sql FIND = Sql.of(HOLDER + " and k.key_hash = :hash");

    private static final Sql OF_PRINCIPAL = Sql.of(HOLDER + """
             and k.workspace_id = :workspace_id and p.name = :name and :scope = any (k.scopes)
             order by k.created_at desc, k.id limit 1""");

    /** A session's scopes are the key's present scopes, as far as the session was created with them. */
    private static final Sql FIND_SESSION = Sql.of("""
            select s.id as session_id, k.id, k.workspace_id, p.name as principal, p.kind,
                array(select unnest(s.scopes) intersect select unnest(k.scopes)) as scopes,
                w.closed_at is not null as closed, %s,
                s.last_used_at < clock_timestamp() - interval '1 minute' as unseen
              from sessions s
              join api_keys k on k.id = s.key_id
              join workspaces w on w.id = s.workspace_id
              join principals p on p.id = k.principal_id
             where s.token_hash = :hash and s.ends_at > clock_timestamp()
               and s.last_used_at > clock_timestamp() - make_interval(secs => %d)
               and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())"""
            .formatted(Limits.column("s.workspace_id"), SessionStore.IDLE.toSeconds()));

    /** @param at time before the query, so that the age of the answer includes the query */
    private record Remembered(Caller caller, long at) {}

    private final Database database;
    private final ApiKeyUsage uses;
    private final LongSupplier nanoTime;
    private final Cache<ByteBuffer, Remembered> memory;
    private final Map<ByteBuffer, FutureTask<@Nullable Caller>> asked = new ConcurrentHashMap<>();

    public ApiKeyLookup(Database database, ApiKeyUsage uses) {
        this(database, uses, System::nanoTime);
    }

    ApiKeyLookup(Database database, ApiKeyUsage uses, LongSupplier nanoTime) {
        this.database = database;
        this.uses = uses;
        this.nanoTime = nanoTime;
        this.memory = Caffeine.newBuilder().maximumSize(MAX_CACHED).expireAfterWrite(CACHE_TIME)
                .ticker(nanoTime::getAsLong).build();
    }

    /** Discards all cached answers, as after a move of the clock. */
    public void clear() {
        memory.invalidateAll();
    }

    /** The holder of a key; null when it is malformed, unknown, expired or revoked. */
    public @Nullable Caller find(String key) {
        if (!ApiKeyFormat.wellFormed(key)) {
            return null;
        }
        return find(key, FIND);
    }

    /** The holder of a session's token; null when it is malformed or unknown, or its session or key has ended. */
    public @Nullable Caller findSession(String token) {
        return SessionStore.wellFormed(token) ? find(token, FIND_SESSION) : null;
    }

    /** The holder of the key of a subject of a provider; null if the key was revoked. */
    public @Nullable Caller federated(UUID key) {
        return find(FederatedIdentities.handle(key), FIND);
    }

    /** The principal of that name as the holder of an active key with the scope; null without such a key. Not cached. */
    public @Nullable Caller ofPrincipal(UUID workspace, String name, Scope scope) {
        return Tenancy.<@Nullable Caller, RuntimeException>allWorkspaces(() -> database
                .withConnection(c -> OF_PRINCIPAL.on(c).set("workspace_id", workspace).set("name", name)
                        .set("scope", scope.wire()).first(row -> caller(row, false)))
                .orElse(null));
    }

    private @Nullable Caller find(String text, Sql sql) {
        ByteBuffer hash = ByteBuffer.wrap(ApiKeyFormat.hash(text));
        long now = nanoTime.getAsLong();
        Remembered known = memory.getIfPresent(hash);
        if (known != null && now - known.at < CACHE_TIME.toNanos()) {
            return known.caller;
        }
        return query(hash, sql, now);
    }

    /** Concurrent look-ups of the same key cause one query: followers of events all ask at once. */
    private @Nullable Caller query(ByteBuffer hash, Sql sql, long now) {
        FutureTask<@Nullable Caller> own = new FutureTask<>(() -> {
            Caller caller = Tenancy.allWorkspaces(() -> read(sql, hash.array()));
            remember(hash, caller, now);
            return caller;
        });
        FutureTask<@Nullable Caller> other = asked.putIfAbsent(hash, own);
        if (other == null) {
            own.run();
            asked.remove(hash, own);
        }
        try {
            return (other == null ? own : other).get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a key was looked up", e);
        }
    }

    private void remember(ByteBuffer hash, @Nullable Caller caller, long now) {
        if (caller == null) {
            memory.invalidate(hash);
            return;
        }
        memory.put(hash, new Remembered(caller, now));
    }

    private @Nullable Caller read(Sql sql, byte[] hash) {
        return database.withConnection(c -> sql.on(c).set("hash", hash).first(row -> caller(row, sql == FIND_SESSION)))
                .orElse(null);
    }

    private Caller caller(ResultSet row, boolean ofSession) throws SQLException {
        UUID key = row.getObject("id", UUID.class);
        UUID session = ofSession ? row.getObject("session_id", UUID.class) : null;
        if (row.getBoolean("unseen")) {
            if (session != null) {
                uses.usedSession(session);
            }
            uses.used(key);
        }
        return new Caller(key, row.getObject("workspace_id", UUID.class),
                new Principal(Principal.Kind.of(row.getString("kind")), row.getString("principal")),
                scopes(row.getArray("scopes").getArray()), row.getBoolean("closed"), Limits.of(row), session);
    }

    /** Words that this version does not know are a later one's: they open nothing here. */
    static Set<Scope> scopes(Object words) {
        Set<Scope> scopes = EnumSet.noneOf(Scope.class);
        for (Object word : (Object[]) words) {
            Scope.of(String.valueOf(word)).ifPresent(scopes::add);
        }
        return scopes;
    }
}
