"""What a config file is: documents, loaders, schemas, dialects and the checks of single values."""
