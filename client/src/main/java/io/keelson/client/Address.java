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

    private static final String API = "/api/v1";

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

    /** @throws KeelsonException with the correction, if the text is not the address of a server */
    static URI checked(String text) {
        String address = text.strip().replaceAll("/+$", "");
        int end = address.indexOf("://");
        String scheme = end < 0 ? "" : address.substring(0, end);
        String fault = end < 0 ? "it has no scheme; write http://" + address
                : !scheme.equalsIgnoreCase("http") && !scheme.equalsIgnoreCase("https")
                        ? "it begins with " + scheme + "://, not with http:// or https://"
                        : address.endsWith(API) ? "it ends with a path that the client adds; write "
                                + address.substring(0, address.length() - API.length()) : null;
        if (fault != null) {
            throw KeelsonException.local("INVALID_ADDRESS", "\"" + text + "\" is not the address of a server: " + fault
                    + "; check KEELSON_URL, or the url given in code", null);
        }
        return URI.create(address);
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
