package io.keelson.server.money;

import io.keelson.core.money.Account;

/** What became of a request to book something. */
public sealed interface Booking {

    /** @param repeated true when the same request had booked it before, and nothing changed this time */
    record Done(LedgerEntry entry, boolean repeated) implements Booking {}

    /** The key stands for something else: this. Nothing changed. */
    record KeyTaken(LedgerEntry entry) implements Booking {}

    /** An account holds less than is to be taken from it, or can hold no more. Nothing changed. */
    record Impossible(Account account, Balance balance) implements Booking {}
}
