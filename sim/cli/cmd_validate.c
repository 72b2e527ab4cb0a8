/* tilesim validate: how near the models are to what they imitate. */
