package io.keelson.server.annex.oidc;

import io.keelson.server.api.http.ApiParts;
import io.keelson.server.api.http.ToolModule;
import io.keelson.server.api.http.support.BearerTokens;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.SessionCookie;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.tenant.auth.AuthServices;
import io.keelson.server.tenant.auth.FederatedIdentities;
import io.keelson.server.tenant.auth.FederatedSessions;
import io.keelson.server.tenant.secret.SecretStore;
import java.time.Clock;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Sign-in at an OpenID provider and tokens of services, if the settings name issuers. */
public final class OidcModule implements ToolModule {

    private final AuthServices auth;
    private final FederatedSessions sessions;
    private final @Nullable SignIn signIn;
    private final @Nullable SessionRenewal renewal;
    /** Reaches private networks: operators name the provider, and no tenant. */
    private final OutboundClient client = new OutboundClient(true);
    private final @Nullable ServiceTokens tokens;
    private @Nullable SessionCookie cookie;

    /**
     * @param settings null if people sign in by keys alone
     * @param services null if the API accepts no tokens of services
     * @param nanos a steady clock in nanoseconds
     */
    public OidcModule(@Nullable OidcSettings settings, Database database, AuthServices auth, SecretStore secrets,
            @Nullable ServiceSettings services, Clock clock, LongSupplier nanos) {
        this.auth = auth;
        FederatedIdentities identities = new FederatedIdentities(database);
        this.tokens = services == null ? null
                : new ServiceTokens(services.audience(), services.issuers().stream()
                        .map(each -> new ServiceTokens.Issuer(each.name(), new Tokens(each.name(),
                                new Provider(each.name(), each.keys(), client, nanos).keys(), clock), each.roles()))
                        .toList(), identities, auth.workspaces(), auth.holders(), clock);
        this.sessions = new FederatedSessions(database, auth.sessions(), secrets);
        if (settings == null) {
            signIn = null;
            renewal = null;
            return;
        }
        Provider provider = new Provider(settings.issuer(), null, client, nanos);
        Tokens tokens = new Tokens(settings.issuer(), provider.keys(), clock);
        signIn = new SignIn(settings, provider, tokens, identities, sessions, auth.workspaces(),
                clock);
        sessions.reseal();
        renewal = new SessionRenewal(signIn, sessions);
    }

    @Override
    public void start(Runnable changed) {
        if (renewal != null) {
            renewal.start();
        }
    }

    @Override
    public List<BackgroundTask> tasks() {
        return renewal == null ? List.of() : renewal.tasks();
    }

    @Override
    public void addTo(Route.Table table, ApiParts api) {
        cookie = api.cookie();
    }

    @Override
    public @Nullable BearerTokens tokens() {
        return tokens;
    }

    @Override
    public List<Mount> mounts(Commands commands) {
        return List.of(new SignInMount(signIn, sessions, auth.sessions(), auth.holders(),
                Objects.requireNonNull(cookie)));
    }

    @Override
    public void close() throws InterruptedException {
        if (renewal != null) {
            renewal.close();
        }
        client.close();
    }
}
