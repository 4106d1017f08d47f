package io.keelson.server.http;

import io.keelson.server.auth.Scope;
import io.keelson.server.secret.Secrets;
import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ObjectNode;

/** Secrets: set, named and removed, never shown. */
final class SecretActions {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,100}");

    private final Secrets secrets;

    SecretActions(Secrets secrets) {
        this.secrets = secrets;
    }

    void addTo(Route.Table table) {
        table.get(Scope.ADMIN, "/secrets", this::list);
        table.put(Scope.ADMIN, "/secrets/{name}", this::set);
        table.delete(Scope.ADMIN, "/secrets/{name}", this::remove);
    }

    private Answer list(Call call) {
        Portion portion = new Portion(call, "secrets");
        List<ObjectNode> shown = secrets.list(call.workspace()).stream().map(SecretActions::document).toList();
        return portion.of(shown);
    }

    private Answer set(Call call) throws IOException {
        call.query().done();
        String name = name(call);
        Fields fields = call.fields();
        String value = fields.text("value", Secrets.MAX_LENGTH);
        if (!value.isEmpty() && value.length() < Secrets.MIN_LENGTH) {
            fields.problem("TOO_SHORT", "value", "at least " + Secrets.MIN_LENGTH + " characters: shorter ones would be"
                    + " struck out of texts in which they stand by chance");
        }
        fields.done();
        return Answer.ok(document(secrets.set(call.workspace(), name, value, call.origin())));
    }

    private Answer remove(Call call) throws IOException {
        call.query().done();
        call.fields().done();
        String name = name(call);
        if (!secrets.remove(call.workspace(), name, call.origin())) {
            throw Refusal.of(ErrorCode.SECRET_NOT_FOUND, "the workspace has no secret '" + name + "'");
        }
        return Answer.empty(204);
    }

    private static String name(Call call) {
        String name = call.pathText("name");
        if (!NAME.matcher(name).matches()) {
            throw Refusal.of(ErrorCode.INVALID_ID, "'" + Shown.piece(name)
                    + "' is no name of a secret: 1 to 100 letters, digits, '.', '_' and '-'");
        }
        return name;
    }

    private static ObjectNode document(Secrets.Shown secret) {
        return Json.object().put("name", secret.name()).put("version", secret.version())
                .put("created_at", Json.time(secret.createdAt())).put("updated_at", Json.time(secret.updatedAt()))
                .put("updated_by", secret.updatedBy());
    }
}
