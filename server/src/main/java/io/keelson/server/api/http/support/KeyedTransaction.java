package io.keelson.server.api.http.support;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.IdempotencyKeys;

/** Executes a request and records its idempotency key in one transaction; a rejection records no key. */
public record KeyedTransaction(Database database, IdempotencyKeys keys) {

    /** @throws Commands.KeyUsed when the key was used before; nothing was changed */
    public ApiResponse answer(ApiRequest request, TxFunction<ApiResponse> work) {
        Idempotency.Keyed keyed = request.keyed();
        if (keyed == null) {
            return database.inTransaction(work);
        }
        return database.inTransaction(c -> {
            if (!keys.use(c, keyed.use())) {
                throw new Commands.KeyUsed();
            }
            ApiResponse response = work.apply(c);
            keys.answered(c, keyed.use(), Idempotency.stored(response));
            return response;
        });
    }
}
