package io.keelson.server.tenant.money;

import io.keelson.api.money.LedgerEntry;
import io.keelson.core.money.LedgerAccount;

/** The result of a booking request. */
public sealed interface Booking {

    /** @param repeated true when the same request had booked it before, and nothing changed this time */
    record Done(LedgerEntry entry, boolean repeated) implements Booking {}

    /** The key belongs to this other entry. Nothing changed. */
    record KeyTaken(LedgerEntry entry) implements Booking {}

    /** An account holds less than is to be taken from it, or can hold no more. Nothing changed. */
    record Impossible(LedgerAccount account, WorkspaceBalance balance) implements Booking {}
}
