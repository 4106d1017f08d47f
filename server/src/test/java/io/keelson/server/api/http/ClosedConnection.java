package io.keelson.server.api.http;

import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A program that sends a request to the gateway and closes its connection without reading the answer to its end. */
final class ClosedConnection {

    private ClosedConnection() {}

    /** The last act of the program before it closes the connection. */
    interface LastAct {
        void on(InputStream answer) throws Exception;
    }

    static void after(ApiServer api, String path, String token, String body, LastAct last) throws Exception {
        try (Socket socket = new Socket(api.url().getHost(), api.url().getPort())) {
            socket.getOutputStream().write(("POST " + path + " HTTP/1.1\r\nHost: " + api.url().getAuthority()
                    + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nContent-Length: "
                    + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.UTF_8));
            last.on(socket.getInputStream());
        }
    }
}
