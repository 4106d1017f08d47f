from keelson.testing import keelson, keelson_server  # noqa: F401
