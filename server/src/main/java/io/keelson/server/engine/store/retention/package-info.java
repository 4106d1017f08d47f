/**
 * Retention: export and deletion of events, artifacts and runs; quotas and slots of uploads.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>Only the retention functions of the schema delete rows of the event tables; triggers refuse every other
 * caller.
 * </ul>
 */
@NullMarked
package io.keelson.server.engine.store.retention;

import org.jspecify.annotations.NullMarked;
