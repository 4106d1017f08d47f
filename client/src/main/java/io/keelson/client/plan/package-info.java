/** Plans built in code; they become the JSON of a mission file. */
@NullMarked
package io.keelson.client.plan;

import org.jspecify.annotations.NullMarked;
