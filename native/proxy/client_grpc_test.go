package proxy

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	grpccode "google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A talker is what a test makes of a gRPC service with one call, which sends
// texts both ways as long as both like. Its description is written by hand, so
// that there is no generated code.
type talker func(grpc.BidiStreamingServer[wrapperspb.StringValue, wrapperspb.StringValue]) error

const talk = "/minilb.Test/Talk"

var talkers = grpc.ServiceDesc{
	ServiceName: "minilb.Test",
	HandlerType: (*any)(nil),
	Streams: []grpc.StreamDesc{{StreamName: "Talk", ServerStreams: true, ClientStreams: true, Handler: func(f any, stream grpc.ServerStream) error {
		return f.(talker)(&grpc.GenericServerStream[wrapperspb.StringValue, wrapperspb.StringValue]{ServerStream: stream})
	}}},
}

// A grpcBackend is a backend by the gRPC library itself.
type grpcBackend struct {
	*grpc.Server
	address string
	health  *health.Server
}

func serveGRPC(t testing.TB, f talker, options ...grpc.ServerOption) *grpcBackend {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &grpcBackend{grpc.NewServer(options...), l.Addr().String(), health.NewServer()}
	grpc_health_v1.RegisterHealthServer(b, b.health)
	if f != nil {
		b.RegisterService(&talkers, f)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = b.Serve(l)
	}()
	t.Cleanup(func() {
		b.Stop()
		<-done
	})
	return b
}

// overH2C is a quiet proxy for backends that speak gRPC.
func overH2C(c *Config) { quiet(c); c.BackendProtocol = "h2c" }

// grpc is a client by the library. It tries nothing twice, so that what is
// repeated is the proxy's doing.
func (s *stack) grpc(options ...grpc.DialOption) *grpc.ClientConn {
	s.t.Helper()
	options = append([]grpc.DialOption{grpc.WithDisableRetry(), grpc.WithTransportCredentials(insecure.NewCredentials())}, options...)
	c, err := grpc.NewClient("passthrough:///"+s.Addr(), options...)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

type conversation = *grpc.GenericClientStream[wrapperspb.StringValue, wrapperspb.StringValue]

// talk begins a conversation.
func (s *stack) talk(ctx context.Context, c *grpc.ClientConn) conversation {
	s.t.Helper()
	stream, err := c.NewStream(ctx, &talkers.Streams[0], talk)
	require.NoError(s.t, err)
	return &grpc.GenericClientStream[wrapperspb.StringValue, wrapperspb.StringValue]{ClientStream: stream}
}

// within is long enough for what should happen, on a busy machine too.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// answers sends every text back in capitals.
func answers(stream grpc.BidiStreamingServer[wrapperspb.StringValue, wrapperspb.StringValue]) error {
	for {
		m, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = stream.Send(wrapperspb.String(strings.ToUpper(m.Value)))
		}
		if err != nil {
			return err
		}
	}
}

func TestGRPCCallsOfOneConnectionGoToDifferentBackends(t *testing.T) {
	s := newStackOver(t, overH2C, serveGRPC(t, nil).address, serveGRPC(t, nil).address)
	client := grpc_health_v1.NewHealthClient(s.grpc())
	var served []string
	for range 4 {
		var head metadata.MD
		answer, err := client.Check(within(t), &grpc_health_v1.HealthCheckRequest{}, grpc.Header(&head))
		require.NoError(t, err)
		assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.Status)
		served = append(served, head.Get("x-minilb-backend")...)
	}
	assert.Equal(t, []string{"b1", "b2", "b1", "b2"}, served)
	s.quietAndBlameless()
}

func TestGRPCMetadataPassesBothWays(t *testing.T) {
	got := make(chan metadata.MD, 1)
	s := newStackOver(t, overH2C, serveGRPC(t, func(stream grpc.BidiStreamingServer[wrapperspb.StringValue, wrapperspb.StringValue]) error {
		md, _ := metadata.FromIncomingContext(stream.Context())
		got <- md
		stream.SetTrailer(metadata.Pairs("late", "1", "late-bin", "\x00\xff"))
		return stream.SendHeader(metadata.Pairs("early", "1", "early", "2", "early-bin", "\x00\xff"))
	}).address)
	stream := s.talk(metadata.AppendToOutgoingContext(within(t), "asked", "a", "asked", "b", "asked-bin", "\x00\xff\n"), s.grpc())
	require.NoError(t, stream.CloseSend())
	_, err := stream.Recv()
	assert.Equal(t, io.EOF, err)
	md := <-got
	assert.Equal(t, []string{"a", "b"}, md["asked"])
	assert.Equal(t, []string{"\x00\xff\n"}, md["asked-bin"])
	assert.Equal(t, []string{"127.0.0.1"}, md["x-forwarded-for"])
	head, err := stream.Header()
	require.NoError(t, err)
	assert.Equal(t, []string{"1", "2"}, head["early"])
	assert.Equal(t, []string{"\x00\xff"}, head["early-bin"])
	assert.Equal(t, metadata.Pairs("late", "1", "late-bin", "\x00\xff"), stream.Trailer())
}

// TestGRPCServerStreamArrivesMessageByMessage: the backend changes its state
// only when the client has seen the state before.
func TestGRPCServerStreamArrivesMessageByMessage(t *testing.T) {
	b := serveGRPC(t, nil)
	s := newStackOver(t, overH2C, b.address)
	watch, err := grpc_health_v1.NewHealthClient(s.grpc()).Watch(within(t), &grpc_health_v1.HealthCheckRequest{Service: "shop"})
	require.NoError(t, err)
	answer, err := watch.Recv()
	require.NoError(t, err)
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN, answer.Status)
	for _, state := range []grpc_health_v1.HealthCheckResponse_ServingStatus{1, 2, 1} {
		b.health.SetServingStatus("shop", state)
		answer, err = watch.Recv()
		require.NoError(t, err)
		assert.Equal(t, state, answer.Status)
	}
	assert.Equal(t, 1, s.pool.Counts().InFlight, "in flight for its life")
	b.health.Shutdown()
	answer, err = watch.Recv()
	require.NoError(t, err)
	assert.Equal(t, grpc_health_v1.HealthCheckResponse_NOT_SERVING, answer.Status)
}

func TestGRPCConversationGoesBackAndForth(t *testing.T) {
	s := newStackOver(t, overH2C, serveGRPC(t, answers, grpc.MaxRecvMsgSize(8<<20)).address)
	stream := s.talk(within(t), s.grpc(grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(8<<20))))
	for _, text := range []string{"one", "", "two", strings.Repeat("large ", 1<<19), "three"} {
		require.NoError(t, stream.Send(wrapperspb.String(text)))
		answer, err := stream.Recv()
		require.NoError(t, err)
		assert.True(t, answer.Value == strings.ToUpper(text), "%.20q came back as %.20q", text, answer.Value)
	}
	require.NoError(t, stream.CloseSend())
	_, err := stream.Recv()
	assert.Equal(t, io.EOF, err)
	s.quietAndBlameless()
}

func TestGRPCErrorsPassInTheTrailers(t *testing.T) {
	s := newStackOver(t, overH2C, serveGRPC(t, func(stream grpc.BidiStreamingServer[wrapperspb.StringValue, wrapperspb.StringValue]) error {
		m, err := stream.Recv()
		if err == nil && m.Value == "first" { // then the answer is more than trailers
			err = stream.Send(wrapperspb.String("something"))
		}
		if err != nil {
			return err
		}
		refusal, err := status.New(grpccode.Unavailable, "closed über Nacht, 100%\n").WithDetails(wrapperspb.String("a detail"))
		if err != nil {
			return err
		}
		return refusal.Err()
	}).address)
	c := s.grpc()
	for _, first := range []string{"", "first"} {
		stream := s.talk(within(t), c)
		require.NoError(t, stream.Send(wrapperspb.String(first)))
		if first != "" {
			_, err := stream.Recv()
			require.NoError(t, err)
		}
		_, err := stream.Recv()
		got := status.Convert(err)
		assert.Equal(t, grpccode.Unavailable, got.Code())
		assert.Equal(t, "closed über Nacht, 100%\n", got.Message())
		require.Len(t, got.Details(), 1)
		assert.Equal(t, "a detail", got.Details()[0].(*wrapperspb.StringValue).Value)
	}
	err := c.Invoke(within(t), "/minilb.Test/Nothing", wrapperspb.String(""), &wrapperspb.StringValue{})
	assert.Equal(t, grpccode.Unimplemented, status.Code(err))
	s.quietAndBlameless() // what a call's status means is between client and backend
}

func TestGRPCDeadlineIsTheBackendsToo(t *testing.T) {
	seen := make(chan time.Time, 1)
	ended := make(chan error, 1)
	s := newStackOver(t, overH2C, serveGRPC(t, func(stream grpc.BidiStreamingServer[wrapperspb.StringValue, wrapperspb.StringValue]) error {
		due, _ := stream.Context().Deadline()
		seen <- due
		<-stream.Context().Done()
		ended <- stream.Context().Err()
		return stream.Context().Err()
	}).address)
	ctx, cancel := context.WithTimeout(within(t), 300*time.Millisecond)
	defer cancel()
	stream := s.talk(ctx, s.grpc())
	_, err := stream.Recv()
	assert.Equal(t, grpccode.DeadlineExceeded, status.Code(err))
	due, _ := ctx.Deadline()
	assert.WithinDuration(t, due, <-seen, 2*time.Second, "grpc-timeout passes")
	assert.Error(t, <-ended)
	s.quietAndBlameless()
}

func TestGRPCClientThatCancelsIsNoFailureOfTheBackend(t *testing.T) {
	ended := make(chan error, 1)
	s := newStackOver(t, overH2C, serveGRPC(t, func(stream grpc.BidiStreamingServer[wrapperspb.StringValue, wrapperspb.StringValue]) error {
		err := answers(stream)
		ended <- stream.Context().Err()
		return err
	}).address)
	c := s.grpc()
	for range 3 {
		ctx, cancel := context.WithCancel(within(t))
		stream := s.talk(ctx, c)
		require.NoError(t, stream.Send(wrapperspb.String("a")))
		_, err := stream.Recv()
		require.NoError(t, err, "the call is under way")
		cancel()
		_, err = stream.Recv()
		assert.Equal(t, grpccode.Canceled, status.Code(err))
		assert.ErrorIs(t, <-ended, context.Canceled, "the backend learns of it")
		s.quietAndBlameless()
	}
}

func TestGRPCCallToABackendThatIsDownIsMadeElsewhere(t *testing.T) {
	s := newStackOver(t, overH2C, deadAddress(t), serveGRPC(t, nil).address)
	client := grpc_health_v1.NewHealthClient(s.grpc())
	for range 4 {
		var head metadata.MD
		_, err := client.Check(within(t), &grpc_health_v1.HealthCheckRequest{}, grpc.Header(&head))
		require.NoError(t, err)
		assert.Equal(t, []string{"b2"}, head.Get("x-minilb-backend"))
	}
	alone := newStackOver(t, overH2C, deadAddress(t))
	_, err := grpc_health_v1.NewHealthClient(alone.grpc()).Check(within(t), &grpc_health_v1.HealthCheckRequest{})
	assert.Equal(t, grpccode.Unavailable, status.Code(err), "as the library reads a 502 or 503")
}

func TestGRPCBackendThatStopsInACallCountsAsFailed(t *testing.T) {
	b := serveGRPC(t, answers)
	s := newStackOver(t, overH2C, b.address, serveGRPC(t, answers).address)
	c := s.grpc()
	stream := s.talk(within(t), c)
	require.NoError(t, stream.Send(wrapperspb.String("a")))
	_, err := stream.Recv()
	require.NoError(t, err)
	b.Stop()
	_, err = stream.Recv()
	require.Error(t, err)
	assert.NotEqual(t, io.EOF, err, "the client sees that it is not whole")
	require.Eventually(t, func() bool { return s.pool.Status(s.now())[0].Failures == 1 }, 5*time.Second, time.Millisecond)
	for range 3 { // what was in the middle is lost, what comes after is not
		stream := s.talk(within(t), c)
		require.NoError(t, stream.Send(wrapperspb.String("a")))
		answer, err := stream.Recv()
		require.NoError(t, err)
		assert.Equal(t, "A", answer.Value)
		require.NoError(t, stream.CloseSend())
		_, err = stream.Recv()
		require.Equal(t, io.EOF, err)
	}
}

// TestGRPCBackendThatStopsGracefullyLosesNothing: its GOAWAY sends new calls
// elsewhere while the old one goes on.
func TestGRPCBackendThatStopsGracefullyLosesNothing(t *testing.T) {
	b := serveGRPC(t, answers)
	s := newStackOver(t, overH2C, b.address, serveGRPC(t, answers).address)
	c := s.grpc()
	say := func(stream conversation, text string) {
		t.Helper()
		require.NoError(t, stream.Send(wrapperspb.String(text)))
		answer, err := stream.Recv()
		require.NoError(t, err)
		assert.Equal(t, strings.ToUpper(text), answer.Value)
	}
	old := s.talk(within(t), c)
	say(old, "before")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		b.GracefulStop()
	}()
	require.Eventually(t, func() bool { // it listens no more
		conn, err := net.Dial("tcp", b.address)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 5*time.Second, time.Millisecond)
	for range 4 {
		stream := s.talk(within(t), c)
		say(stream, "new")
		require.NoError(t, stream.CloseSend())
		_, err := stream.Recv()
		require.Equal(t, io.EOF, err)
	}
	say(old, "after")
	require.NoError(t, old.CloseSend())
	_, err := old.Recv()
	assert.Equal(t, io.EOF, err)
	<-stopped
}

func TestGRPCOverTLSBothWays(t *testing.T) {
	c := newCertificate(t)
	b := serveGRPC(t, answers, grpc.Creds(credentials.NewServerTLSFromCert(&c.pair)))
	s := newStackOver(t, func(config *Config) {
		quiet(config)
		config.TLSCert, config.TLSKey = c.cert, c.key
		config.BackendProtocol, config.BackendTLS, config.BackendTLSCA = "h2", true, c.cert
	}, b.address)
	stream := s.talk(within(t), s.grpc(grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: c.pool}))))
	require.NoError(t, stream.Send(wrapperspb.String("secret")))
	answer, err := stream.Recv()
	require.NoError(t, err)
	assert.Equal(t, "SECRET", answer.Value)
	require.NoError(t, stream.CloseSend())
	_, err = stream.Recv()
	assert.Equal(t, io.EOF, err)
}

// TestGRPCBackendsAreCheckedByTheirConnections: a gRPC server has no GET
// /health, so its checks are of the kind tcp.
func TestGRPCBackendsAreCheckedByTheirConnections(t *testing.T) {
	b := serveGRPC(t, nil)
	s := newStackOver(t, func(c *Config) {
		c.BackendProtocol, c.CheckType, c.CheckInterval, c.CheckJitter, c.Fall = "h2c", "tcp", 20*time.Millisecond, 0, 1
	}, b.address)
	assert.True(t, s.probed("b1").Passed)
	b.Stop()
	s.until("b1", "unhealthy")
}
