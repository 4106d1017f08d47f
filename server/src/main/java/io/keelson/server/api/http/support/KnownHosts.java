package io.keelson.server.api.http.support;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/**
 * The names under which a server on loopback is asked. A page whose own name its owner resolves to this machine is of the same
 * origin as the server for a browser; under a name that is not the server's it gets nothing.
 */
public final class KnownHosts {

    private final @Nullable Set<String> names;

    /**
     * @param address that the server listens at; another one than loopback has any name
     * @param publicUrl where browsers find the server; null for where it listens
     */
    public KnownHosts(String address, @Nullable URI publicUrl) {
        if (!loopback(address)) {
            this.names = null;
            return;
        }
        Set<String> known = new HashSet<>(List.of("127.0.0.1", "localhost", "[::1]", "::1", address));
        if (publicUrl != null) {
            known.add(publicUrl.getHost().toLowerCase(Locale.ROOT));
        }
        this.names = known;
    }

    /**
     * Refuses a request under another name, unless it shows an API key, which such a page has not.
     *
     * @throws HttpException.RuntimeException 421
     */
    public Request require(Request request) {
        if (names != null && !request.getHeaders().contains(HttpHeader.AUTHORIZATION)
                && !names.contains(Request.getServerName(request).toLowerCase(Locale.ROOT))) {
            throw new HttpException.RuntimeException(HttpStatus.MISDIRECTED_REQUEST_421);
        }
        return request;
    }

    /** Whether the server is asked under that name. */
    public boolean knows(@Nullable String host) {
        return host != null && (names == null || names.contains(host.toLowerCase(Locale.ROOT)));
    }

    private static boolean loopback(String address) {
        try {
            return InetAddress.getByName(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
