package io.keelson.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Which Keelson this is; written into the jar when it is built. */
final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
        return new String[] {"keelson " + number() + ", Java " + Runtime.version().feature()};
    }

    private static String number() {
        Properties properties = new Properties();
        try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
            if (in != null) {
                properties.load(in);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties.getProperty("version", "unknown");
    }
}
