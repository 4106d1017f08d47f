package io.keelson.cli.common;

import io.keelson.cli.common.ServerConnection.Work;

/** A command that changes state. If no server runs, a server of the installation that only answers is started for it. */
public abstract class ChangeCommand extends ClientCommand {

    @Override
    protected Work work() {
        return Work.NONE;
    }
}
