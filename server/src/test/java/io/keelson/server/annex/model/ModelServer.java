package io.keelson.server.annex.model;

import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.util.Map;

/** Starts servers that call models. */
final class ModelServer {

    private ModelServer() {}

    /** A server with the models of {@code models.yaml} in the folder, and its data below it. */
    static Server start(Path folder, DatabaseUrl database) throws Exception {
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.resolve("data").toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(database), "KEELSON_MODELS",
                "models.yaml"), folder, folder));
    }
}
