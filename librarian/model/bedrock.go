package model

import (
	"context"
	"errors"

	"github.com/anthropics/anthropic-sdk-go/v2/bedrock"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
)

// NewBedrock makes the adapter for Claude on Amazon Bedrock; the model is its id there, or an inference profile's id or
// ARN. Region and credentials are those of the AWS SDK's default chain: AWS_REGION, AWS_PROFILE, AWS_ACCESS_KEY_ID,
// AWS_BEARER_TOKEN_BEDROCK, the shared files, the machine's role
// (https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html). They are looked for at the first call.
func NewBedrock(o Options) (*Anthropic, error) {
	return newAnthropicOn(o, &cloud{open: func(ctx context.Context, o Options) ([]option.RequestOption, error) {
		cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(o.HTTP))
		if err != nil {
			return nil, err
		}
		if cfg.Region == "" {
			return nil, &failure{e: &Error{Kind: ErrAuth, Message: "the region of Bedrock is not known: set AWS_REGION"}}
		}
		if cfg.Credentials != nil {
			cfg.Credentials = awsCredentials{cfg.Credentials}
		}
		return []option.RequestOption{bedrock.WithConfig(cfg)}, nil
	}})
}

// awsCredentials are credentials whose absence is told from a network that fails.
type awsCredentials struct{ aws.CredentialsProvider }

// Retrieve implements [aws.CredentialsProvider].
func (c awsCredentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		return aws.Credentials{}, noCredentials("bedrock", err)
	}
	return found, err
}
