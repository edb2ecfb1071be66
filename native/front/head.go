//go:build unix

package front

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strings"
)

// A verdict is what is to be done with what the client has sent so far.
type verdict uint8

const (
	needMore verdict = iota
	taken
	notOurs // net/http's
	refused // nobody's: it can be read in two ways
)

// A scan finds the end of a head without looking at a byte twice.
type scan struct {
	line, at int  // where the line begins that is not whole yet, and what was looked at
	loose    bool // a line ended in a bare LF
}

// moved follows the buffer's bytes to its beginning.
func (s *scan) moved(by int) { s.line, s.at = s.line-by, s.at-by }

// end is the position after the head; 0 when it is not whole.
func (s *scan) end(buf []byte) int {
	for {
		i := bytes.IndexByte(buf[s.at:], '\n')
		if i < 0 {
			s.at = len(buf)
			return 0
		}
		end := s.at + i
		text := buf[s.line:end]
		strict := len(text) > 0 && text[len(text)-1] == '\r'
		s.line, s.at, s.loose = end+1, end+1, s.loose || !strict
		if len(text) == 0 || len(text) == 1 && strict {
			return end + 1
		}
	}
}

// parse reads a request's head from the buffer. One that is taken is out of it.
func (c *conn) parse() verdict {
	if !c.beginning() {
		return needMore
	}
	if c.head.line < c.r {
		c.head.line, c.head.at = c.r, c.r
	}
	end := c.head.end(c.buf[:c.w])
	switch {
	case end == 0 && c.w-c.r >= maxHead:
		return notOurs
	case end == 0:
		return needMore
	}
	text, loose := string(c.buf[c.r:end]), c.head.loose
	c.head = scan{end, end, false}
	if loose {
		return looseVerdict(text)
	}
	v := c.parseHead(text)
	if v == taken {
		c.r = end
		c.large = len(text) > maxKeptText || len(c.header) > maxKept
	}
	return v
}

// beginning says whether there is a head to be read. After an answer net/http
// waits for four bytes first, and so does this.
func (c *conn) beginning() bool {
	if c.served && !c.begun {
		c.begun = c.w-c.r >= 4
	}
	if c.served && !c.begun {
		return false
	}
	if c.post {
		c.skipOldHabit()
	}
	return !c.post
}

// skipOldHabit passes over the empty line that some old clients send after the
// body of a POST, as net/http does.
func (c *conn) skipOldHabit() {
	for i := 0; i < 4 && c.r < c.w && (c.buf[c.r] == '\r' || c.buf[c.r] == '\n'); i++ {
		c.r++
	}
	c.post = c.r == c.w
}

// looseVerdict is that on a head which net/http reads less strictly.
func looseVerdict(text string) verdict {
	var length, coded bool
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(line, ":")
		length = length || strings.EqualFold(name, "Content-Length")
		coded = coded || strings.EqualFold(name, "Transfer-Encoding")
	}
	if length && coded {
		return refused
	}
	return notOurs
}

// What is remembered of the fields that decide something.
type marks struct {
	hosts, lengths int
	coded          bool // Transfer-Encoding
	foreign        bool // something that is net/http's
	close, pragma  bool
	length         int64
}

// parseHead reads a whole head: lines that end in CRLF, and an empty one.
func (c *conn) parseHead(text string) verdict {
	first, fields, _ := strings.Cut(text, "\r\n")
	var m marks
	plain := c.requestLine(first)
	sound := c.fields(fields, &m)
	switch {
	case sound && m.coded && m.lengths > 0:
		return refused // RFC 9112 section 6.1: somebody before us may have read it the other way
	case !plain || !sound || m.foreign || m.coded || m.hosts != 1 || m.lengths > 1:
		return notOurs
	case c.server.Other != nil && c.server.Other(c.request.Target):
		return notOurs
	}
	c.accept(&m)
	return taken
}

// accept makes the request from what was read.
func (c *conn) accept(m *marks) {
	r := &c.request
	r.Header, r.Major, r.Minor, r.Length = c.header, 1, 1, m.length
	if m.pragma && c.header["Pragma"][0] == "no-cache" && c.header["Cache-Control"] == nil {
		c.header["Cache-Control"] = []string{"no-cache"} // net/http does
	}
	c.answer.head, c.answer.close = r.Method == http.MethodHead, m.close
	c.post = r.Method == http.MethodPost
	if m.length > 0 {
		c.body = newBody(c, m.length)
		r.Body = c.body
	}
}

// requestLine reads METHOD SP TARGET SP HTTP/1.1, and says whether it is of the
// plain kind.
func (c *conn) requestLine(line string) bool {
	method, rest, _ := strings.Cut(line, " ")
	target, plain := strings.CutSuffix(rest, " HTTP/1.1")
	c.request.Method, c.request.Target = method, target
	return plain && all(method, inToken) && method != http.MethodConnect && method != "PRI" && isTarget(target)
}

// isTarget says whether a target is of origin-form and no net/url would mind.
func isTarget(target string) bool {
	if target == "" || target[0] != '/' || !all(target, inTarget) {
		return false
	}
	path, _, _ := strings.Cut(target, "?")
	for at := strings.IndexByte(path, '%'); at >= 0; at = strings.IndexByte(path, '%') {
		if len(path) < at+3 || !isHex(path[at+1]) || !isHex(path[at+2]) {
			return false
		}
		path = path[at+3:]
	}
	return true
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'f'
}

// fields reads the field lines and the empty one. Their map is the
// connection's, and so is the room for their values.
func (c *conn) fields(text string, m *marks) (sound bool) {
	c.clear()
	for {
		line, rest, _ := strings.Cut(text, "\r\n")
		if text = rest; line == "" {
			return true
		}
		name, value, ok := parseField(line)
		if !ok {
			return false
		}
		if c.mark(name, value, m); name == "Host" {
			continue
		}
		if had := c.header[name]; had != nil {
			c.header[name] = append(had, value)
			continue
		}
		c.values = append(c.values, value)
		n := len(c.values)
		c.header[name] = c.values[n-1 : n : n]
	}
}

// What is longer is not kept while the connection rests.
const (
	maxKept     = 32      // fields
	maxKeptText = 4 << 10 // bytes of a head
)

// clear makes room for another header.
func (c *conn) clear() {
	if c.header == nil {
		c.header = http.Header{}
	}
	clear(c.header)
	c.values = c.values[:0]
}

// parseField reads one line, its name in canonical form.
func parseField(line string) (name, value string, ok bool) {
	at := strings.IndexByte(line, ':')
	if at <= 0 {
		return "", "", false
	}
	name, value = line[:at], trim(line[at+1:])
	switch canonical := nameKind(name); canonical {
	case noName:
		return "", "", false
	case otherName:
		name = textproto.CanonicalMIMEHeaderKey(name)
	}
	return name, value, all(value, inValue)
}

// mark remembers what a field means for the connection.
func (c *conn) mark(name, value string, m *marks) {
	switch name {
	case "Host":
		m.hosts++
		m.foreign = m.foreign || value == "" || !all(value, inHost)
		c.request.Host = value
	case "Content-Length":
		m.lengths++
		length, ok := parseLength(value)
		m.foreign = m.foreign || !ok
		m.length = length
	case "Transfer-Encoding":
		m.coded = true
	case "Pragma":
		m.pragma = true
	case "Connection":
		m.close = m.close || hasWord(value, "close")
	case "Upgrade", "Expect", "Te", "Trailer", "Http2-Settings":
		m.foreign = true
	}
}

// parseLength reads digits and nothing else.
func parseLength(value string) (int64, bool) {
	n := int64(0)
	for i := range len(value) {
		d := value[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	return n, 0 < len(value) && len(value) <= 18
}
