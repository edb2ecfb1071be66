package cli

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A process is the program itself, for what only signals can ask of it.
type process struct {
	*exec.Cmd
	t       *testing.T
	log     *safeBuffer
	address string
}

func newProcess(t *testing.T, binary string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0", "--check-interval", "0"}, args...)...), t: t, log: &safeBuffer{}}
	p.Stderr = p.log
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	p.address = p.said(`listening on ([^:]+:\d+)`)[1]
	return p
}

func (p *process) said(pattern string) (found []string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		found = regexp.MustCompile(pattern).FindStringSubmatch(p.log.String())
		return found != nil
	}, 20*time.Second, 5*time.Millisecond, pattern)
	return found
}

// followsItsPolicy waits until the policy file was looked at for the first time
// since the start. The program listens before that.
func (p *process) followsItsPolicy() {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		r, err := http.Get("http://" + p.address + "/_minilb/status")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		var status struct{ Policy struct{ Read float64 } }
		return json.NewDecoder(r.Body).Decode(&status) == nil && status.Policy.Read > 0
	}, 20*time.Second, 5*time.Millisecond, "the policy file is not looked at")
}

// slowServer answers when it is told to.
func slowServer(t *testing.T) (address string, started, finish chan struct{}) {
	started, finish = make(chan struct{}, 8), make(chan struct{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started <- struct{}{}
		_, _ = io.WriteString(w, "first half, ")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-finish:
			_, _ = io.WriteString(w, "second half")
		case <-r.Context().Done():
		}
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return l.Addr().String(), started, finish
}

func TestTheProgramAnswersSignals(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "minilb")
	out, err := exec.Command("go", "build", "-o", binary, "minilb/native/minilb").CombinedOutput()
	require.NoError(t, err, string(out))
	t.Run("SIGTERM lets requests end", func(t *testing.T) { sigtermLetsRequestsEnd(t, binary, "20", "0 requests") })
	t.Run("SIGTERM cuts what does not end", func(t *testing.T) { sigtermLetsRequestsEnd(t, binary, "0.1", "1 request") })
	t.Run("SIGHUP reads the policy file again", func(t *testing.T) { sighupReadsThePolicyFile(t, binary) })
}

// SIGTERM takes no more connections, lets what is in flight end, says how many
// it cut off and exits with 0.
func sigtermLetsRequestsEnd(t *testing.T, binary, limit, cut string) {
	address, started, finish := slowServer(t)
	p := newProcess(t, binary, "--backend", "b1="+address, "--shutdown-timeout", limit)
	answer := make(chan string, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		r, err := client.Get("http://" + p.address)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			text = []byte(err.Error())
		}
		answer <- string(text)
	}()
	<-started
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", p.address)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, 10*time.Second, 5*time.Millisecond, "it takes no new connections")
	if strings.HasPrefix(cut, "0") {
		close(finish)
		assert.Equal(t, "first half, second half", <-answer)
	} else {
		assert.Contains(t, <-answer, "EOF", "the client sees that it was cut off")
	}
	assert.NoError(t, p.Wait(), "exit status 0")
	assert.Contains(t, p.log.String(), "[minilb] stopped: "+cut+" cut off\n")
}

// SIGHUP has the policy file read again, also when nothing else notices: here it
// is changed by another name of it, in a folder that nobody watches.
func sighupReadsThePolicyFile(t *testing.T, binary string) {
	policy, unwatched := filepath.Join(t.TempDir(), "policy.yaml"), filepath.Join(t.TempDir(), "policy.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(unwatched, []byte(text), 0o600)) }
	write("backends: [b1=127.0.0.1:9]\n")
	require.NoError(t, os.Link(unwatched, policy))
	p := newProcess(t, binary, "--policy", policy)
	p.followsItsPolicy() // or its first look would find what is written now
	write("backends: [b1=127.0.0.1:9, b2=127.0.0.1:9]\n")
	time.Sleep(100 * time.Millisecond)
	assert.NotContains(t, p.log.String(), "b2 added", "not by itself")
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	p.said(`b2 added`)
	write("backends: [b1=127.0.0.1:9]\nretires: 2\n")
	require.NoError(t, p.Process.Signal(syscall.SIGHUP))
	p.said(`policy\.yaml:2:1: "retires": unknown parameter; did you mean retries\?`)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, p.Wait())
}
