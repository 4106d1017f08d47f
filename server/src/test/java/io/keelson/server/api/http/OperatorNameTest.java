package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who acts under the name of an operator. */
class OperatorNameTest {

    @Test
    void anAdministratorMakesNoKeyForTheOperatorsPerson(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            String operator = api.get("/api/v1/whoami").json().at("/key/principal").stringValue();
            String admin = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.ADMIN));

            ApiServer.Answer refused = make(api, operator, admin);

            assertThat(refused.status()).as(refused.text()).isEqualTo(403);
            assertThat(refused.json().get("scope").stringValue()).isEqualTo("operator");
            assertThat(make(api, "ann", admin).status()).isEqualTo(201);
            assertThat(make(api, operator, "Bearer " + api.key()).status()).isEqualTo(201);
        }
    }

    @Test
    void namesOfTheServersOwnKeysAreReserved(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            String admin = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.ADMIN));
            assertThat(make(api, "bootstrap", admin).status()).isEqualTo(403);
            String stranger = api.stranger();
            for (String name : List.of("Local", "bootstrap")) {
                ApiServer.Answer refused = make(api, name, stranger);
                assertThat(refused.status()).as(refused.text()).isEqualTo(422);
                assertThat(refused.json().get("code").stringValue()).isEqualTo("NAME_RESERVED");
            }
        }
    }

    private static ApiServer.Answer make(ApiServer api, String principal, String bearer) {
        return api.post("/api/v1/api-keys", "{\"name\": \"new\", \"principal\": \"" + principal
                + "\", \"scopes\": [\"admin\"]}", "Authorization", bearer);
    }
}
