/** Workers: tools of your own, served to a Keelson server from another process. */
@NullMarked
package io.keelson.client.worker;

import org.jspecify.annotations.NullMarked;
