@NullMarked
package io.keelson.server.engine;

import org.jspecify.annotations.NullMarked;
