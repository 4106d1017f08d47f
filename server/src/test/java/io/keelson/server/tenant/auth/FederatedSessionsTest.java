package io.keelson.server.tenant.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.auth.FederatedSessions.Grant;
import io.keelson.server.tenant.secret.SealingKey;
import io.keelson.server.tenant.secret.SecretStore;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class FederatedSessionsTest {

    @Test
    void tokensOfSessionsAreSealedAnewWhenTheKeyChanges() {
        SealingKey former = SealingKey.fresh();
        SealingKey lost = SealingKey.fresh();
        SealingKey present = SealingKey.fresh();
        try (Database database = TestDatabase.create()) {
            Bootstrap.ensureWorkspace(database);
            AuthServices auth = AuthServices.of(database, new ApiKeyUsage(database));
            UUID one = begin(database, auth, former, "one");
            UUID other = begin(database, auth, lost, "two");

            FederatedSessions sessions = sessions(database, auth, present, List.of(former));
            assertThat(sessions.reseal()).isEqualTo(1);
            assertThat(sessions.reseal()).isZero();
            assertThat(sessions(database, auth, present, List.of()).find(one).orElseThrow().tokens())
                    .isEqualTo("tokens of one");
            assertThat(sessions(database, auth, lost, List.of()).find(other).orElseThrow().tokens())
                    .isEqualTo("tokens of two");
        }
    }

    private static FederatedSessions sessions(Database database, AuthServices auth, SealingKey key,
            List<SealingKey> former) {
        return new FederatedSessions(database, auth.sessions(), new SecretStore(database, key, former));
    }

    private static UUID begin(Database database, AuthServices auth, SealingKey key, String name) {
        KeyResult made = new KeyStore(database).create(Bootstrap.DEFAULT_WORKSPACE,
                new NewKey(name, name, Principal.Kind.PERSON, EnumSet.of(Scope.RUNS_READ), null), AuditOrigin.SERVER);
        UUID id = ((KeyResult.Issued) made).key().row().id();
        return sessions(database, auth, key, List.of())
                .begin(Bootstrap.DEFAULT_WORKSPACE, id,
                        new Grant("https://id.example", name, null, "tokens of " + name, Duration.ofHours(1),
                                Duration.ofMinutes(30)),
                        "state of " + name, Duration.ofMinutes(10), null)
                .orElseThrow().session().id();
    }
}
