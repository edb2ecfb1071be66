package h1

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// framing is how the end of a body is known.
type framing uint8

const (
	noBody framing = iota
	byLength
	byChunks
	byClose
)

// frame finds out where the body ends (RFC 9112 section 6.3).
func (e *Response) frame() error {
	codings, lengths := e.Header["Transfer-Encoding"], e.Header["Content-Length"]
	length, err := oneLength(lengths)
	if err != nil {
		return err
	}
	if len(lengths) > 1 {
		e.Header["Content-Length"] = lengths[:1]
	}
	switch {
	case codings != nil && lengths != nil:
		return Malformed("both Transfer-Encoding and Content-Length")
	case codings != nil && (len(codings) != 1 || !strings.EqualFold(codings[0], "chunked")):
		return Malformed("Transfer-Encoding " + quote(strings.Join(codings, ", ")) + "; only chunked is understood")
	case e.Status == http.StatusNoContent:
		e.noContent(codings != nil || length > 0)
	case e.method == "HEAD" || e.Status == http.StatusNotModified:
		e.framing, e.Length, e.ended = noBody, length, true
	case codings != nil:
		e.framing, e.Length = byChunks, -1
	case length >= 0:
		e.framing, e.Length, e.left, e.ended = byLength, length, length, length == 0
	default:
		e.framing, e.Length, e.keep = byClose, -1, false
	}
	return nil
}

// noContent is a 204, which has no body whatever its head says. A backend that
// announces one may be about to send it, as the next answer, and a client who
// is told of it may wait for it.
func (e *Response) noContent(announced bool) {
	e.framing, e.Length, e.ended = noBody, 0, true
	if announced {
		e.keep = false
		delete(e.Header, "Transfer-Encoding")
		delete(e.Header, "Content-Length")
	}
}

// oneLength reads Content-Length; -1 when there is none. Several fields that
// agree count as one; a list in one field is refused, as RFC 9110 section 8.6
// allows and net/http does.
func oneLength(values []string) (int64, error) {
	length := int64(-1)
	for _, value := range values {
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil || length >= 0 && int64(n) != length {
			return 0, Malformed("Content-Length " + quote(value))
		}
		length = int64(n)
	}
	return length, nil
}

// errClosed is what a Read after Close gets: the connection may be another
// exchange's by then.
var errClosed = errors.New("the response was closed")

// Read reads the body. An error other than io.EOF is a *Failure, and final.
func (e *Response) Read(p []byte) (int, error) {
	switch {
	case e.failed != nil:
		return 0, e.failed
	case e.ended:
		return 0, io.EOF
	case e.closed:
		return 0, &Failure{Stage: Reading, Sent: e.sent, Received: true, Reused: e.conn.reused, Err: errClosed}
	case len(p) == 0:
		return 0, nil
	}
	n, err := e.readBody(p)
	if err == nil || err == io.EOF && e.ended {
		return n, err
	}
	e.failed = e.failure(Reading, err)
	return n, e.failed
}

func (e *Response) readBody(p []byte) (int, error) {
	switch e.framing {
	case byClose:
		n, err := e.some(p)
		e.ended = err == io.EOF
		return n, err
	case byChunks:
		if e.left == 0 {
			if err := e.nextChunk(); err != nil {
				return 0, err
			} else if e.ended {
				return 0, io.EOF
			}
		}
	}
	n, err := e.some(p[:min(int64(len(p)), e.left)])
	if e.left -= int64(n); e.left == 0 {
		e.ended, e.tail = e.framing == byLength, e.framing == byChunks
	}
	return n, err
}

// some reads what is in the buffer, or else from the connection, past the
// buffer when p is as large. An error that comes with bytes comes again.
func (e *Response) some(p []byte) (int, error) {
	c := e.conn
	if c.r == c.w {
		if err := e.readWithin(c.client.Timeouts.Body); err != nil {
			return 0, err
		}
		if len(p) >= len(c.buf) {
			n, err := c.Conn.Read(p)
			if n > 0 {
				err = nil
			}
			return n, err
		}
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.buf[c.r:c.w])
	c.r += n
	return n, nil
}

// maxChunkLine bounds a chunk's size and extensions, which nobody uses.
const maxChunkLine = 4 << 10

// nextChunk reads a chunk's size, and after the last one the trailers.
func (e *Response) nextChunk() error {
	if err := e.readWithin(e.conn.client.Timeouts.Body); err != nil {
		return err
	}
	if err := e.chunkEnd(); err != nil {
		return err
	}
	line, err := e.conn.line(maxChunkLine, "chunk line")
	if err != nil {
		return err
	}
	size, ok := parseChunkSize(line)
	if !ok {
		return Malformed("chunk size " + quote(string(line)))
	}
	if e.left = size; size > 0 {
		return nil
	}
	return e.readTrailer()
}

func (e *Response) readTrailer() error {
	text, err := e.conn.block()
	if err != nil {
		return err
	}
	if len(text) > len("\r\n") {
		if e.trailer, err = new(fieldRoom).parse(string(text), true); err != nil {
			return err
		}
	} else if len(text) < len("\r\n") {
		return Malformed("the last chunk ends in a bare LF")
	}
	e.ended = true
	return nil
}

// chunkEnd reads the CRLF after a chunk's data, when that is due. It is not
// awaited together with the data, which may be a message of a stream.
func (e *Response) chunkEnd() error {
	c := e.conn
	for e.tail && c.w-c.r < 2 {
		if err := c.fill(); err != nil {
			return err
		}
	}
	if e.tail && string(c.buf[c.r:c.r+2]) != "\r\n" {
		return Malformed("a chunk is longer than its size")
	}
	if e.tail {
		c.r += 2
	}
	e.tail = false
	return nil
}

// parseChunkSize reads a chunk's line: hexadecimal digits, an extension if
// there is one, and the CR before the LF. Leniency here, with a bare LF above
// all, has let requests be smuggled.
func parseChunkSize(line []byte) (int64, bool) {
	line, ended := bytes.CutSuffix(line, []byte{'\r'})
	digits, extension, extended := bytes.Cut(line, []byte{';'})
	if extended {
		digits = bytes.TrimRight(digits, " \t")
	}
	if !ended || !isValue(extension) || len(digits) == 0 || len(digits) > 15 {
		return 0, false
	}
	size := int64(0)
	for _, d := range digits {
		switch {
		case '0' <= d && d <= '9':
			size = size<<4 | int64(d-'0')
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			size = size<<4 | int64(d|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return size, true
}

// Trailer is the fields after a chunked body, once that was read to its end.
func (e *Response) Trailer() http.Header { return e.trailer }
