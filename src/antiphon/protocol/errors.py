"""The errors Antiphon raises, split by whose fault it is.

    AntiphonError
    ├── ClientError            the request cannot be served as it is            400
    │   ├── InvalidRequest     wrong JSON, wrong shape, an impossible wish       400
    │   ├── TooLarge           a body over the limit                             413
    │   ├── NotFound           no such route or object                           404
    │   ├── Forbidden          a web page, or a Host that is not ours            403
    │   ├── Unauthorized       no key, or none of ours                           401
    │   └── TooMany            more requests than the key may make               429
    ├── UpstreamError          the model server failed, refused or went away     as `failures` says
    └── GatewayError           our own fault                                     500
        └── StoreUnavailable   the state cannot be read or written               503

`status` and `code` are what an edge shows; each edge renders them in its own form (HTTP body, SSE event, later WebSocket frame, RPC error).
"""

from dataclasses import replace
from typing import ClassVar

from antiphon.protocol.failures import Failure


class AntiphonError(Exception):
    """Anything that ends a request without an answer."""

    failure: Failure


class ClientError(AntiphonError):
    """The client must change something; `param` names what."""

    status: ClassVar[int] = 400
    type: ClassVar[str] = "invalid_request_error"
    code: ClassVar[str | None] = None

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(status=self.status, code=code or self.code, type=self.type, message=message, param=param)


class InvalidRequest(ClientError):
    """Wrong JSON, a wrong shape, or a wish that cannot be met."""


class TooLarge(ClientError):
    """A body over the limit."""

    status = 413
    code = "request_too_large"


class NotFound(ClientError):
    """No such route or object."""

    status = 404


class Forbidden(ClientError):
    """A request that a web page, or a name that is not ours, has sent."""

    status = 403
    type = "permission_error"
    code = "forbidden"


class Unauthorized(ClientError):
    """No key, or none that is in force."""

    status = 401
    code = "invalid_api_key"


class TooMany(ClientError):
    """More requests than a key may make, in a minute or at once."""

    status = 429
    type = "rate_limit_error"
    code = "rate_limit_exceeded"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.failure = replace(self.failure, retry_after=str(retry_after))


class UpstreamError(AntiphonError):
    """The model server's fault, already put in the client's terms by `failures`."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class GatewayError(AntiphonError):
    """Our own fault."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "gateway_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(status=self.status, code=self.code, message=message)


class StoreUnavailable(GatewayError):
    """The state cannot be read or written; nothing of the request was kept."""

    status = 503
    code = "store_unavailable"
