package io.keelson.server.annex.notice;

import io.keelson.core.run.Ids;
import io.keelson.server.api.http.ApiParts;
import io.keelson.server.api.http.ToolModule;
import io.keelson.server.api.http.definitions.ReceiverCheck;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.outlet.notice.Notice;
import io.keelson.server.outlet.notice.Notices;
import io.keelson.server.outlet.webhook.Deliveries;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.tenant.auth.AuthServices;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.auth.FederatedSessions;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.secret.SecretStore;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Notices, and the pages of their links. */
public final class NoticeModule implements ToolModule, Notices {

    private final Parts parts;
    private volatile @Nullable ApiParts api;
    private volatile @Nullable String base;

    /**
     * Parts of a server that notices use.
     *
     * @param provider whether people sign in at an identity provider
     * @param publicUrl where browsers find the server; null for where it listens
     * @param linkTime how long a link for an answer works
     */
    public record Parts(Database database, AuthServices auth, SecretStore secrets, Endpoints endpoints,
            Deliveries deliveries, Ids ids, boolean provider, @Nullable URI publicUrl, Duration linkTime,
            Clock clock) {}

    public NoticeModule(Parts parts) {
        this.parts = parts;
        this.base = parts.publicUrl() == null ? null : address(parts.publicUrl());
    }

    /** Sets the address of links, unless browsers find the server elsewhere. */
    public void listensAt(URI address) {
        if (base == null) {
            base = address(address);
        }
    }

    private static String address(URI uri) {
        return uri.toString().replaceAll("/+$", "");
    }

    @Override
    public void addTo(Route.Table table, ApiParts api) {
        this.api = api;
        new OwnReceiverActions(parts.endpoints(), parts.deliveries(),
                new ReceiverCheck(parts.endpoints(), parts.auth().keys(), parts.database()), sessions(),
                parts.ids()).addTo(table);
    }

    private @Nullable FederatedSessions sessions() {
        return parts.provider()
                ? new FederatedSessions(parts.database(), parts.auth().sessions(), parts.secrets())
                : null;
    }

    @Override
    public List<Mount> mounts(Commands commands) {
        ApiParts present = Objects.requireNonNull(api);
        return List.of(new AnswerMount(present, parts.database(),
                new Answerers(parts.endpoints(), parts.auth(), sessions(), present.cookie()),
                parts.auth(), parts.secrets(), parts.clock()));
    }

    @Override
    public boolean mayRead(Target target) {
        String owner = target.owner();
        if (owner == null) {
            return true;
        }
        Caller caller = parts.auth().holders().ofPrincipal(target.workspace(), owner, Scope.RUNS_READ);
        return caller != null && !caller.closed();
    }

    @Override
    public @Nullable Notice write(Target target, String body) {
        ApiParts present = api;
        String address = base;
        if (present == null || address == null) {
            throw new IllegalStateException("the server is starting");
        }
        return new NoticeWriter(present, address, parts.secrets(), parts.linkTime(), parts.clock()).write(target, body);
    }
}
