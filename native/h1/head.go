package h1

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// Limits on what a backend may send in a head.
const (
	maxHead   = 64 << 10
	maxFields = 1000
)

// line takes the next line out of the buffer, without its LF.
func (c *conn) line(limit int, what string) ([]byte, error) {
	for from := 0; ; {
		if at := bytes.IndexByte(c.buf[c.r+from:c.w], '\n'); at >= 0 {
			line := c.buf[c.r : c.r+from+at]
			c.r += from + at + 1
			return line, nil
		}
		from = c.w - c.r
		if err := c.fillUpTo(limit, what); err != nil {
			return nil, err
		}
	}
}

// block takes the next field lines, with the empty one that ends them.
func (c *conn) block() ([]byte, error) {
	for from := 0; ; {
		text := c.buf[c.r:c.w]
		for at := bytes.IndexByte(text[from:], '\n'); at >= 0; at = bytes.IndexByte(text[from:], '\n') {
			empty := at == 0 || at == 1 && text[from] == '\r'
			if from += at + 1; empty {
				c.r += from
				return text[:from], nil
			}
		}
		if err := c.fillUpTo(maxHead, "head"); err != nil {
			return nil, err
		}
	}
}

// readHead reads a status line and the fields after it. Their lines may end in
// a bare LF (RFC 9112 section 2.2 lets a recipient accept it): unlike between
// chunks there is no second way to read that.
func (e *Response) readHead() error {
	line, err := e.conn.line(maxHead, "status line")
	if err != nil {
		return err
	}
	minor, status, ok := parseStatusLine(bytes.TrimSuffix(line, []byte{'\r'}))
	if !ok {
		return Malformed("status line " + quote(string(line)))
	}
	text, err := e.conn.block()
	if err != nil {
		return err
	}
	if e.Header, err = e.room.parse(string(text), false); err != nil {
		return err
	}
	e.Status = status
	connection := e.Header["Connection"]
	e.keep = e.keep && !hasToken(connection, "close") && (minor > 0 || hasToken(connection, "keep-alive"))
	if minor == 0 && e.Header["Transfer-Encoding"] != nil {
		return Malformed("Transfer-Encoding in an HTTP/1.0 answer")
	}
	return nil
}

// parseStatusLine reads HTTP/1.x SP 3DIGIT, with or without a reason.
func parseStatusLine(line []byte) (minor, status int, ok bool) {
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return 0, 0, false
	}
	if line[7] != '0' && line[7] != '1' {
		return 0, 0, false
	}
	for _, d := range line[9:12] {
		if d < '0' || d > '9' {
			return 0, 0, false
		}
		status = status*10 + int(d-'0')
	}
	return int(line[7] - '0'), status, status >= 100 && isValue(line[12:])
}

// A fieldRoom is the memory of a header.
type fieldRoom struct {
	header http.Header
	values []string
}

// maxKept is the longest header whose memory is used again.
const maxKept = 32

// clear makes room for n fields.
func (m *fieldRoom) clear(n int) {
	if m.header == nil || len(m.header) > maxKept {
		m.header = make(http.Header, n)
	}
	clear(m.header)
	if cap(m.values) < n || cap(m.values) > max(n, 2*maxKept) {
		m.values = make([]string, n)
	}
	m.values = m.values[:n]
}

// parse reads field lines up to the empty one that ends text; strict refuses
// those that end in a bare LF. All of them share one string.
func (m *fieldRoom) parse(text string, strict bool) (http.Header, error) {
	n := strings.Count(text, "\n") - 1
	if n > maxFields {
		return nil, Malformed("head over " + strconv.Itoa(maxFields) + " fields")
	}
	m.clear(n)
	header, values := m.header, m.values
	for i := range n + 1 {
		at := strings.IndexByte(text, '\n')
		line, ended := strings.CutSuffix(text[:at], "\r")
		if text = text[at+1:]; strict && !ended {
			return nil, Malformed("a trailer's line ends in a bare LF")
		}
		if i == n {
			break
		}
		name, value, err := parseField(line)
		if err != nil {
			return nil, err
		}
		if had := header[name]; had != nil {
			header[name] = append(had, value)
			continue
		}
		values[i] = value
		header[name] = values[i : i+1 : i+1]
	}
	return header, nil
}

// parseField also refuses a line that continues the one before (obs-fold) and
// white space before the colon (RFC 9112 section 5).
func parseField(line string) (name, value string, err error) {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return "", "", Malformed("field line " + quote(name))
	}
	value = trim(value)
	if !isValue(value) {
		return "", "", Malformed("control character in field " + name)
	}
	return textproto.CanonicalMIMEHeaderKey(name), value, nil
}
