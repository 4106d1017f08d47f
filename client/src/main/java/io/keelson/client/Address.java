package io.keelson.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The URL of a server and the key for it. */
record Address(String url, @Nullable String apiKey) {

    /**
     * From the environment, else from the data directory's files. The directory's key belongs to the server on this
     * machine and is never sent to another one.
     */
    static Address find(Map<String, String> environment, String home) {
        String named = environment.get("KEELSON_DATA_DIR");
        Path directory = named == null ? Path.of(home, ".keelson") : Path.of(named);
        String url = environment.get("KEELSON_URL");
        if (url == null) {
            url = read(directory.resolve("url"));
        }
        if (url == null) {
            throw KeelsonException.local("NO_SERVER_KNOWN",
                    "no server known: set KEELSON_URL, or start one, which writes " + directory.resolve("url"), null);
        }
        String key = environment.get("KEELSON_API_KEY");
        return new Address(url, key == null && local(url) ? read(directory.resolve("api-key")) : key);
    }

    private static boolean local(String url) {
        try {
            String host = URI.create(url).getHost();
            return host != null && InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static @Nullable String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            throw KeelsonException.local("NO_SERVER_KNOWN", "cannot read " + file + ": " + e.getMessage(), e);
        }
    }
}
