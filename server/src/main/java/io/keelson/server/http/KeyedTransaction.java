package io.keelson.server.http;

import io.keelson.server.db.Database;
import io.keelson.server.db.TxFunction;
import io.keelson.server.engine.Commands;
import io.keelson.server.run.IdempotencyKeys;

/** What is asked is done and its idempotency key used in one transaction; what is refused in it uses no key. */
record KeyedTransaction(Database database, IdempotencyKeys keys) {

    /** @throws Commands.KeyUsed when the key was used before; nothing was changed */
    Answer answer(Call call, TxFunction<Answer> work) {
        Idempotency.Keyed keyed = call.keyed();
        if (keyed == null) {
            return database.inTransaction(work);
        }
        return database.inTransaction(c -> {
            if (!keys.use(c, keyed.use())) {
                throw new Commands.KeyUsed();
            }
            Answer answer = work.apply(c);
            keys.answered(c, keyed.use(), Idempotency.stored(answer));
            return answer;
        });
    }
}
