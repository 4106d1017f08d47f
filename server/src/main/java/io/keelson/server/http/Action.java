package io.keelson.server.http;

import java.io.IOException;

/** What a route does. A {@link Refusal} thrown is an answer too. */
@FunctionalInterface
interface Action {

    Answer answer(Call call) throws IOException, InterruptedException;
}
