@NullMarked
package io.keelson.client;

import org.jspecify.annotations.NullMarked;
