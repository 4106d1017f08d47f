/** The entrance of models: configuration, routes, and the module that adds tools to a server. */
@NullMarked
package io.keelson.server.annex.model.wiring;

import org.jspecify.annotations.NullMarked;
