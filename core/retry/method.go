package retry

// Idempotent says whether repeating a request of this method has the effect of
// one: GET, HEAD, OPTIONS, TRACE, PUT and DELETE (RFC 9110 section 9.2.2).
// Methods are case-sensitive (section 9.1), and an unknown one is not safe.
func Idempotent(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		return true
	}
	return false
}
