package io.keelson.cli;

import io.keelson.server.KeelsonVersion;
import picocli.CommandLine.IVersionProvider;

/** Which Keelson this is. */
final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
        return new String[] {"keelson " + KeelsonVersion.current() + ", Java " + Runtime.version().feature()};
    }
}
