/** Where measuring takes place: PostgreSQL, the contenders' processes, and who else used the processors. */
@NullMarked
package io.keelson.bench.lab;

import org.jspecify.annotations.NullMarked;
