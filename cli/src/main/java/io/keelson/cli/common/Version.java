package io.keelson.cli.common;

import io.keelson.server.app.KeelsonVersion;
import picocli.CommandLine.IVersionProvider;

/** The version of Keelson. */
public final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
        return new String[] {"keelson " + KeelsonVersion.current() + ", Java " + Runtime.version().feature()};
    }
}
