"""What happens in the service, as it happens."""
